package verbena.tools.kit;

import verbena.verbs.cm.ConnectionEvent;

/// Events of the connection manager as the C programs name and number them.
public final class CmEvents {
    /// Linux's numbers of a time-out and of an error without a number of its own.
    private static final int ETIMEDOUT = 110;

    private static final int UNKNOWN = 1;

    private CmEvents() {}

    /// Returns the name in `enum rdma_cm_event_type`.
    public static String name(ConnectionEvent event) {
        return "RDMA_CM_EVENT_"
                + switch (event) {
                    case ConnectionEvent.AddressResolved _ -> "ADDR_RESOLVED";
                    case ConnectionEvent.AddressError _ -> "ADDR_ERROR";
                    case ConnectionEvent.RouteResolved _ -> "ROUTE_RESOLVED";
                    case ConnectionEvent.RouteError _ -> "ROUTE_ERROR";
                    case ConnectionEvent.ConnectRequest _ -> "CONNECT_REQUEST";
                    case ConnectionEvent.ConnectResponse _ -> "CONNECT_RESPONSE";
                    case ConnectionEvent.ConnectError _ -> "CONNECT_ERROR";
                    case ConnectionEvent.Unreachable _ -> "UNREACHABLE";
                    case ConnectionEvent.Rejected rejected ->
                        // The C library says so when there is no service for datagrams.
                        rejected.id().space().isDatagram() ? "UNREACHABLE" : "REJECTED";
                    case ConnectionEvent.Established _, ConnectionEvent.DatagramEstablished _ -> "ESTABLISHED";
                    case ConnectionEvent.Disconnected _ -> "DISCONNECTED";
                    case ConnectionEvent.DeviceRemoval _ -> "DEVICE_REMOVAL";
                    case ConnectionEvent.MulticastJoined _ -> "MULTICAST_JOIN";
                    case ConnectionEvent.MulticastError _ -> "MULTICAST_ERROR";
                    case ConnectionEvent.TimewaitExit _ -> "TIMEWAIT_EXIT";
                };
    }

    /// Returns the number that goes with it: the peer's reason to refuse, or an error number, negative; 0 for good
    /// news.
    public static int status(ConnectionEvent event) {
        return switch (event) {
            case ConnectionEvent.Rejected rejected -> rejected.reason();
            case ConnectionEvent.AddressError _, ConnectionEvent.Unreachable _ -> -ETIMEDOUT;
            case ConnectionEvent.RouteError _,
                    ConnectionEvent.ConnectError _,
                    ConnectionEvent.DeviceRemoval _,
                    ConnectionEvent.MulticastError _ -> -UNKNOWN;
            default -> 0;
        };
    }

    /// Returns the failure in words; empty for good news.
    static String why(ConnectionEvent event) {
        return switch (event) {
            case ConnectionEvent.Rejected rejected -> rejected.why();
            case ConnectionEvent.AddressError error -> error.why();
            case ConnectionEvent.RouteError error -> error.why();
            case ConnectionEvent.ConnectError error -> error.why();
            case ConnectionEvent.Unreachable error -> error.why();
            case ConnectionEvent.Disconnected ended -> ended.why();
            case ConnectionEvent.DeviceRemoval error -> error.why();
            case ConnectionEvent.MulticastError error -> error.why();
            default -> "";
        };
    }

    /// Returns the line of the C program, with the reason.
    public static String line(ConnectionEvent event) {
        int status = status(event);
        String line = "cma event " + name(event) + (status == 0 ? "" : ", error " + status);
        return why(event).isEmpty() ? line : line + ": " + why(event);
    }
}
