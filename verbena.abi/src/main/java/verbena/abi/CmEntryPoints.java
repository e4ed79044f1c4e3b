package verbena.abi;

import java.lang.invoke.MethodHandles;

/// What C calls of librdmacm.
final class CmEntryPoints {
    static final EntryPoints ALL =
            new EntryPoints(MethodHandles.lookup(), CmCalls.class, ConnectCalls.class, EndpointCalls.class);

    private CmEntryPoints() {}
}
