package verbena.sim.script;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Gid;
import verbena.wire.Frame;

/// What a packet line says of the network headers, behind the packet: `from 10.0.0.9 to 239.1.1.1 tos 0x20 ttl 3
/// port 0xc123`. What is not named is as usual when a packet is made up, and not compared when it was sent.
final class NetworkHeaders {
    private @Nullable Gid from;
    private @Nullable Gid to;
    private OptionalInt trafficClass = OptionalInt.empty();
    private OptionalInt hopLimit = OptionalInt.empty();
    private OptionalInt sourcePort = OptionalInt.empty();

    static NetworkHeaders parse(String text) {
        var headers = new NetworkHeaders();
        var words = new Words(text);
        while (!words.isEmpty()) {
            String word = words.next("word");
            switch (word) {
                case "from" -> headers.from = Gid.parse(words.next("address"));
                case "to" -> headers.to = Gid.parse(words.next("address"));
                case "tos" -> headers.trafficClass = OptionalInt.of(words.integer("tos"));
                case "ttl" -> headers.hopLimit = OptionalInt.of(words.integer("ttl"));
                case "port" -> headers.sourcePort = OptionalInt.of(words.integer("port"));
                default -> throw words.wrong("\"" + word + "\" means nothing here");
            }
        }
        return headers;
    }

    void write(Frame frame) {
        if (from != null) {
            frame.sourceHigh = from.high();
            frame.sourceLow = from.low();
        }
        if (to != null) {
            frame.destinationHigh = to.high();
            frame.destinationLow = to.low();
        }
        frame.trafficClass = trafficClass.orElse(frame.trafficClass);
        frame.hopLimit = hopLimit.orElse(frame.hopLimit);
        frame.sourcePort = sourcePort.orElse(frame.sourcePort);
    }

    List<String> differences(Frame frame) {
        var differences = new ArrayList<String>();
        compare("from", from, new Gid(frame.sourceHigh, frame.sourceLow), differences);
        compare("to", to, new Gid(frame.destinationHigh, frame.destinationLow), differences);
        compare("tos", trafficClass, frame.trafficClass, differences);
        compare("ttl", hopLimit, frame.hopLimit, differences);
        compare("port", sourcePort, frame.sourcePort, differences);
        return differences;
    }

    private static void compare(String word, @Nullable Gid expected, Gid actual, List<String> differences) {
        if (expected != null && !expected.equals(actual)) {
            differences.add(word + ": expected " + expected + ", was " + actual);
        }
    }

    private static void compare(String word, OptionalInt expected, int actual, List<String> differences) {
        if (expected.isPresent() && expected.getAsInt() != actual) {
            differences.add(word + ": expected 0x%x, was 0x%x".formatted(expected.getAsInt(), actual));
        }
    }
}
