package verbena.nic;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import verbena.verbs.Access;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.Endpoint;
import verbena.verbs.MemoryRegion;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;

/// A process that lends a region to one peer and does nothing else until its input ends: the program that
/// [SharedProcessesTest] starts, kills and stops.
final class SharingProcess {
    static final int MEMORY_BYTES = 1 << 16;

    private SharingProcess() {}

    private static MemoryRegion memory(ProtectionDomain domain, boolean isOwn) {
        return isOwn
                ? domain.register(Arena.ofAuto().allocate(MEMORY_BYTES), Access.remoteAll())
                : domain.allocate(MEMORY_BYTES, Access.remoteAll());
    }

    /// With a second argument, it lends memory of the program instead of the device's.
    ///
    /// Prints endpoint, address and rkey in a line; reads the peer's endpoint; prints `connected`. Each further
    /// line asks for the counters.
    public static void main(String[] arguments) throws IOException {
        var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
        try (Context context = Device.named(arguments[0]).open();
                ProtectionDomain domain = context.allocateProtectionDomain();
                CompletionQueue cq = context.createCompletionQueue(16);
                QueuePair queuePair = domain.createQueuePair(QueuePairOptions.rc(cq));
                MemoryRegion memory = memory(domain, arguments.length == 2)) {
            System.out.println(queuePair.endpoint().format() + " " + memory.address() + " " + memory.rkey());
            queuePair.connect(Endpoint.parse(input.readLine()));
            System.out.println("connected");
            while (input.readLine() != null) {
                System.out.println(context.counters());
            }
        }
    }
}
