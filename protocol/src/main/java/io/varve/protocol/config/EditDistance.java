package io.varve.protocol.config;

/** How many letters must be put in, left out, replaced or swapped with their neighbour to make one word of another. */
final class EditDistance {

    private EditDistance() {}

    static int between(String one, String other) {
        int[] before = new int[other.length() + 1];
        int[] above = new int[other.length() + 1];
        int[] row = new int[other.length() + 1];
        for (int j = 0; j <= other.length(); j++) {
            above[j] = j;
        }
        for (int i = 1; i <= one.length(); i++) {
            row[0] = i;
            for (int j = 1; j <= other.length(); j++) {
                boolean same = one.charAt(i - 1) == other.charAt(j - 1);
                int best = Math.min(Math.min(above[j], row[j - 1]) + 1, above[j - 1] + (same ? 0 : 1));
                if (i > 1
                        && j > 1
                        && one.charAt(i - 1) == other.charAt(j - 2)
                        && one.charAt(i - 2) == other.charAt(j - 1)) {
                    best = Math.min(best, before[j - 2] + 1);
                }
                row[j] = best;
            }
            int[] free = before;
            before = above;
            above = row;
            row = free;
        }
        return above[other.length()];
    }
}
