package verbena.abi.cm;

import java.lang.invoke.MethodHandles;
import verbena.abi.EntryPoints;

/// The calls of librdmacm.
public final class CmEntryPoints {
    public static final EntryPoints ALL =
            new EntryPoints(MethodHandles.lookup(), CmCalls.class, ConnectCalls.class, EndpointCalls.class);

    private CmEntryPoints() {}
}
