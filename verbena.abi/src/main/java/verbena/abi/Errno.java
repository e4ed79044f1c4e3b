package verbena.abi;

import java.io.UncheckedIOException;
import verbena.verbs.ConnectionException;
import verbena.verbs.DeviceException;
import verbena.verbs.InUseException;
import verbena.verbs.ResourceLimitException;
import verbena.verbs.UnsupportedException;
import verbena.verbs.VerbsException;

/// Numbers of errors as C knows them (errno(3), Linux), and what an exception becomes.
final class Errno {
    static final long ENOENT = -2;
    static final long EIO = -5;
    static final long EBADF = -9;
    static final long EAGAIN = -11;
    static final long ENOMEM = -12;
    static final long EBUSY = -16;
    static final long ENODEV = -19;
    static final long EINVAL = -22;
    static final long EMFILE = -24;
    static final long ENOSPC = -28;
    static final long EPIPE = -32;
    static final long ENAMETOOLONG = -36;
    static final long EPROTO = -71;
    static final long EDESTADDRREQ = -89;
    static final long EMSGSIZE = -90;
    static final long ENOPROTOOPT = -92;
    static final long EPROTONOSUPPORT = -93;
    static final long EOPNOTSUPP = -95;
    static final long EAFNOSUPPORT = -97;
    static final long EADDRINUSE = -98;
    static final long ENETUNREACH = -101;
    static final long EADDRNOTAVAIL = -99;
    static final long ECONNABORTED = -103;
    static final long ECONNRESET = -104;
    static final long EISCONN = -106;
    static final long ENOTCONN = -107;
    static final long ETIMEDOUT = -110;
    static final long ECONNREFUSED = -111;
    static final long EHOSTUNREACH = -113;
    static final long EALREADY = -114;
    static final long EINPROGRESS = -115;

    /// Set by `verbena run --explain`: each call that fails is explained on standard error, one line each.
    private static final boolean EXPLAIN = System.getenv("VERBENA_EXPLAIN") != null;

    private Errno() {}

    /// The negative errno that tells most of it; the words go to standard error when they are wanted.
    static long of(Throwable thrown) {
        long errno = switch (thrown) {
            case ResourceLimitException _ -> ENOMEM;
            case UnsupportedException _ -> EOPNOTSUPP;
            case InUseException _ -> EBUSY;
            case OverwrittenException _ -> ENOENT;
            case ConnectionException e when e.getCause() instanceof DeviceException -> EADDRNOTAVAIL;
            case ConnectionException _ -> EADDRINUSE;
            case DeviceException _, UncheckedIOException _ -> EIO;
            case VerbsException _, IllegalArgumentException _, IndexOutOfBoundsException _ -> EINVAL;
            case OutOfMemoryError _ -> ENOMEM;
            default -> unexpected(thrown);
        };
        if (EXPLAIN) {
            System.err.println("verbena: errno " + -errno + ": " + thrown.getMessage());
        }
        return errno;
    }

    /// A mistake of ours, not of the program's: always told.
    @SuppressWarnings("CatchAndPrintStackTrace") // there is no one above but C
    private static long unexpected(Throwable thrown) {
        System.err.println("verbena: a call ended with " + thrown);
        thrown.printStackTrace();
        return EIO;
    }
}
