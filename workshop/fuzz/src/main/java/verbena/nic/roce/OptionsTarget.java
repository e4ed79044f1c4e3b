package verbena.nic.roce;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.function.Function;
import verbena.fuzz.Contract;
import verbena.nic.capture.CaptureFile;
import verbena.nic.iwarp.IwarpDevice;
import verbena.nic.link.Faults;
import verbena.nic.link.LinkKind;
import verbena.verbs.Endpoint;
import verbena.verbs.Gid;
import verbena.verbs.RemoteMemory;

/// Text from command lines and peers: options of devices, faults, captures, addresses, endpoints, memory. The input
/// is the text. It is in this package because that is where options are read.
public final class OptionsTarget {
    private OptionsTarget() {}

    public static void run(byte[] data) {
        String text = new String(data, StandardCharsets.UTF_8);
        works(() -> DeviceOptions.parse(text));
        works(() -> IwarpDevice.Options.parse("iwarp", text));
        works(() -> Faults.parse(text));
        works(() -> CaptureFile.parse(text));
        works(() -> CaptureFile.bytes(text));
        works(() -> LinkKind.parse(text));
        fixedPoint(text, Gid::parse, Gid::toString);
        fixedPoint(text, Gid::parse, Gid::groups);
        fixedPoint(text, Endpoint::parse, Endpoint::format);
        fixedPoint(text, RemoteMemory::parse, RemoteMemory::format);
    }

    private static void works(Contract.Work parse) {
        Contract.worksOrFailsBy(IllegalArgumentException.class, parse);
    }

    private static <T> void fixedPoint(String text, Function<String, T> parse, Function<T, String> print) {
        var parsed = new ArrayList<T>();
        works(() -> parsed.add(parse.apply(text)));
        for (T value : parsed) {
            Contract.equal(value, parse.apply(print.apply(value)), "printed and parsed again");
        }
    }
}
