package verbena.interop;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/// The arguments of the user.
///
/// @param names of systems; none for all
/// @param device kind of the device
/// @param isSmall that each takes some seconds only
/// @param isOnlyGood without mixed peers, servers that are killed, and loss
/// @param isFigures that systems are measured, and not checked
record Arguments(List<String> names, String device, boolean isSmall, boolean isOnlyGood, boolean isFigures) {
    private static final List<String> DEVICES = List.of("shm", "rocev2", "iwarp");

    /// @throws IllegalArgumentException when they are wrong
    static Arguments parse(List<String> words, List<String> known) {
        var names = new ArrayList<String>();
        String device = "shm";
        boolean isSmall = false;
        boolean isOnlyGood = false;
        boolean isFigures = false;
        Iterator<String> each = words.iterator();
        while (each.hasNext()) {
            String word = each.next();
            switch (word) {
                case "--small" -> isSmall = true;
                case "--good" -> isOnlyGood = true;
                case "--figures" -> isFigures = true;
                case "--device" -> device = oneOf(DEVICES, "device", each.hasNext() ? each.next() : "");
                default -> names.add(oneOf(known, "system", word));
            }
        }
        return new Arguments(List.copyOf(names), device, isSmall, isOnlyGood, isFigures);
    }

    private static String oneOf(List<String> known, String what, String word) {
        if (!known.contains(word)) {
            throw new IllegalArgumentException(
                    "there is no " + what + " \"" + word + "\"; there are " + String.join(", ", known));
        }
        return word;
    }

    boolean isWanted(String name) {
        return names.isEmpty() || names.contains(name);
    }
}
