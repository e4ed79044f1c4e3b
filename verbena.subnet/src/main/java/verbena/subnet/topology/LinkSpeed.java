package verbena.subnet.topology;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Width and speed of a link, as PortInfo has them (IBTA 14.2.5.6).
///
/// @param width a bit of [verbena.wire.mad.PortInfo#LINK_WIDTH_ACTIVE]: 1 for one lane, 2 for four
/// @param speed a bit of [verbena.wire.mad.PortInfo#LINK_SPEED_ACTIVE]: 1, 2 or 4 for 2.5, 5 or 10 Gb/s a lane
/// @param extended a bit of [verbena.wire.mad.PortInfo#LINK_SPEED_EXT_ACTIVE]: 1 or 2 for 14 or 25 Gb/s; else 0
public record LinkSpeed(int width, int speed, int extended) {
    /// Four lanes of 25 Gb/s: the fastest of the nodes here.
    public static final LinkSpeed FASTEST = new LinkSpeed(2, 4, 2);

    private static final Pattern TEXT = Pattern.compile("(1|4)x(SDR|DDR|QDR|FDR|EDR)");

    /// Parses words of ibnetdiscover(8) like `4xEDR`; empty for any other text.
    static Optional<LinkSpeed> of(String text) {
        Matcher found = TEXT.matcher(text);
        if (!found.matches()) {
            return Optional.empty();
        }
        int width = found.group(1).equals("1") ? 1 : 2;
        return Optional.of(
                switch (found.group(2)) {
                    case "SDR" -> new LinkSpeed(width, 1, 0);
                    case "DDR" -> new LinkSpeed(width, 2, 0);
                    case "QDR" -> new LinkSpeed(width, 4, 0);
                    case "FDR" -> new LinkSpeed(width, 4, 1);
                    default -> new LinkSpeed(width, 4, 2);
                });
    }

    @Override
    public String toString() {
        String name = switch (extended) {
            case 0 -> speed == 1 ? "SDR" : speed == 2 ? "DDR" : "QDR";
            case 1 -> "FDR";
            default -> "EDR";
        };
        return (width == 1 ? "1x" : "4x") + name;
    }
}
