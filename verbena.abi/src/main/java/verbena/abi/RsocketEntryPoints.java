package verbena.abi;

import java.lang.invoke.MethodHandles;

/// What C calls of rsocket(7).
final class RsocketEntryPoints {
    static final EntryPoints ALL = new EntryPoints(MethodHandles.lookup(), RsocketCalls.class);

    private RsocketEntryPoints() {}
}
