package verbena.abi.verbs;

import java.lang.invoke.MethodHandles;
import verbena.abi.EntryPoints;

/// The calls of libibverbs.
public final class VerbsEntryPoints {
    public static final EntryPoints ALL = new EntryPoints(
            MethodHandles.lookup(),
            DeviceCalls.class,
            MemoryCalls.class,
            DeviceMemoryCalls.class,
            ImportCalls.class,
            FlowCalls.class,
            CompletionCalls.class,
            QueueCalls.class,
            AddressCalls.class,
            SendCalls.class,
            RequestCalls.class,
            TextCalls.class);

    private VerbsEntryPoints() {}
}
