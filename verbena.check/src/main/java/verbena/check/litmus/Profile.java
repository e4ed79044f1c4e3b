package verbena.check.litmus;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The freedoms that a device may take, by its name.
///
/// @param text in words, for a report
/// @param freedoms the most that it may take
/// @param isWeak whether the device takes them on purpose, from a seed, so that each has to be seen
public record Profile(String text, Set<ModelFreedom> freedoms, boolean isWeak) {
    private static final Pattern KIND = Pattern.compile("(rocev[12]|shm|ib|iwarp|(rxe|siw)\\d+)([@_,].*)?");

    public Profile {
        freedoms = Set.copyOf(freedoms);
    }

    /// Returns the profile of a device. Software devices are strong, but WRITEs of iWARP (also Linux's, `siw0`)
    /// complete when TCP has the bytes, and atomics of Linux's soft-RoCE (`rxe0`) are loads and stores. The option
    /// `weak` names freedoms. Whatever has another name is taken for a card.
    public static Profile of(String device) {
        Matcher kind = KIND.matcher(device);
        if (!kind.matches()) {
            return new Profile("a card", ModelFreedom.of(Level.CARD), false);
        }
        EnumSet<ModelFreedom> freedoms = EnumSet.copyOf(ModelFreedom.of(Level.STRONG));
        String text = "strong";
        if (kind.group(1).equals("iwarp") || kind.group(1).startsWith("siw")) {
            freedoms.add(ModelFreedom.LATE_VISIBILITY);
            text += ", but " + ModelFreedom.LATE_VISIBILITY.text();
        } else if (kind.group(1).startsWith("rxe")) {
            freedoms.add(ModelFreedom.SPLIT_ATOMICS);
            text += ", but " + ModelFreedom.SPLIT_ATOMICS.text();
        }
        List<String> weak = weak(device);
        if (weak.isEmpty()) {
            return new Profile(text, freedoms, false);
        }
        for (String name : weak) {
            switch (name) {
                case "card" -> freedoms.addAll(ModelFreedom.of(Level.CARD));
                case "standard" -> {
                    freedoms.addAll(ModelFreedom.of(Level.STANDARD));
                    freedoms.remove(ModelFreedom.UNORDERED_WRITES); // no device here takes it
                }
                default ->
                    freedoms.addAll(EnumSet.allOf(ModelFreedom.class).stream()
                            .filter(each -> each.text().equals(name))
                            .toList());
            }
        }
        return new Profile("weak: " + String.join(", ", weak), freedoms, true);
    }

    // The values of the option `weak`, as in `shm,weak=torn,unfenced,seed=7`.
    private static List<String> weak(String device) {
        var values = new ArrayList<String>();
        boolean isWeak = false;
        for (String option : device.split(",", -1)) {
            if (option.contains("=") || option.contains("@")) {
                isWeak = option.startsWith("weak=");
            }
            if (isWeak) {
                values.add(option.replaceFirst("weak=", ""));
            }
        }
        return values;
    }
}
