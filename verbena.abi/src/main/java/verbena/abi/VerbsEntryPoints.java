package verbena.abi;

import java.lang.invoke.MethodHandles;

/// What C calls of libibverbs.
final class VerbsEntryPoints {
    static final EntryPoints ALL = new EntryPoints(
            MethodHandles.lookup(),
            DeviceCalls.class,
            MemoryCalls.class,
            CompletionCalls.class,
            QueueCalls.class,
            AddressCalls.class,
            SendCalls.class,
            RequestCalls.class,
            TextCalls.class);

    private VerbsEntryPoints() {}
}
