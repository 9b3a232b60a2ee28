package io.varve.itest.sim;

/**
 * What simulated bookies do wrong on purpose.
 *
 * @param forgetsFences their fences are gone after a restart (against I-4)
 * @param deletesWhatIsNotListed they delete what an old list of the metadata doesn't name (against I-9)
 * @param commitsUnverified they report an object as there without having read it back (against I-10)
 * @param answersBeforeSync they answer that an entry is durable before it is (against I-1)
 */
record BookieBugs(
        boolean forgetsFences, boolean deletesWhatIsNotListed, boolean commitsUnverified, boolean answersBeforeSync) {
    static final BookieBugs NONE = new BookieBugs(false, false, false, false);
}
