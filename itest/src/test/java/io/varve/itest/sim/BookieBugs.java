package io.varve.itest.sim;

/**
 * What simulated bookies do wrong on purpose.
 *
 * @param forgetsFences their fences are gone after a restart (against I-4)
 * @param deletesWhatIsNotListed they delete what an old list of the metadata doesn't name (against I-9)
 */
record BookieBugs(boolean forgetsFences, boolean deletesWhatIsNotListed) {
    static final BookieBugs NONE = new BookieBugs(false, false);
}
