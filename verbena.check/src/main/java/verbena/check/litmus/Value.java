package verbena.check.litmus;

/// A number, or what a register or a word of memory holds, plus a number.
///
/// @param name the register or word; empty for none
/// @param number what is added
public record Value(String name, int number) {
    /// The least number that has something in the upper half of a word: each half holds one hexadecimal digit.
    static final int HALF = 16;

    boolean isNumber() {
        return name.isEmpty();
    }

    @Override
    public String toString() {
        if (isNumber()) {
            return text(number);
        }
        return number == 0 ? name : name + " + " + number;
    }

    /// Returns a number as the notation has it: wide ones, whose halves matter, in hexadecimal digits.
    static String text(int number) {
        return number < HALF ? Integer.toString(number) : "0x" + Integer.toHexString(number);
    }
}
