package verbena.abi.rsocket;

import java.lang.invoke.MethodHandles;
import verbena.abi.EntryPoints;

/// The calls of rsocket(7).
public final class RsocketEntryPoints {
    public static final EntryPoints ALL = new EntryPoints(MethodHandles.lookup(), RsocketCalls.class);

    private RsocketEntryPoints() {}
}
