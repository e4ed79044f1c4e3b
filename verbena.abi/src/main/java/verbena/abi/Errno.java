package verbena.abi;

import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;
import verbena.foreign.linux.LinuxAbi;
import verbena.stream.protocol.StreamFailure;
import verbena.verbs.ConnectionException;
import verbena.verbs.DeviceException;
import verbena.verbs.InUseException;
import verbena.verbs.ResourceLimitException;
import verbena.verbs.UnsupportedException;
import verbena.verbs.VerbsException;

/// What calls answer when they fail, negative errors as in the kernel, and what an exception becomes.
final class Errno {
    static final long ENOENT = -LinuxAbi.ENOENT;
    static final long EIO = -LinuxAbi.EIO;
    static final long EBADF = -LinuxAbi.EBADF;
    static final long EAGAIN = -LinuxAbi.EAGAIN;
    static final long ENOMEM = -LinuxAbi.ENOMEM;
    static final long EBUSY = -LinuxAbi.EBUSY;
    static final long ENODEV = -LinuxAbi.ENODEV;
    static final long EINVAL = -LinuxAbi.EINVAL;
    static final long EMFILE = -LinuxAbi.EMFILE;
    static final long ENOSPC = -LinuxAbi.ENOSPC;
    static final long EPIPE = -LinuxAbi.EPIPE;
    static final long ENAMETOOLONG = -LinuxAbi.ENAMETOOLONG;
    static final long EPROTO = -LinuxAbi.EPROTO;
    static final long EDESTADDRREQ = -LinuxAbi.EDESTADDRREQ;
    static final long EMSGSIZE = -LinuxAbi.EMSGSIZE;
    static final long ENOPROTOOPT = -LinuxAbi.ENOPROTOOPT;
    static final long EPROTONOSUPPORT = -LinuxAbi.EPROTONOSUPPORT;
    static final long EOPNOTSUPP = -LinuxAbi.EOPNOTSUPP;
    static final long EAFNOSUPPORT = -LinuxAbi.EAFNOSUPPORT;
    static final long EADDRINUSE = -LinuxAbi.EADDRINUSE;
    static final long ENETUNREACH = -LinuxAbi.ENETUNREACH;
    static final long EADDRNOTAVAIL = -LinuxAbi.EADDRNOTAVAIL;
    static final long ECONNABORTED = -LinuxAbi.ECONNABORTED;
    static final long ECONNRESET = -LinuxAbi.ECONNRESET;
    static final long EISCONN = -LinuxAbi.EISCONN;
    static final long ENOTCONN = -LinuxAbi.ENOTCONN;
    static final long ETIMEDOUT = -LinuxAbi.ETIMEDOUT;
    static final long ECONNREFUSED = -LinuxAbi.ECONNREFUSED;
    static final long EHOSTUNREACH = -LinuxAbi.EHOSTUNREACH;
    static final long EALREADY = -LinuxAbi.EALREADY;
    static final long EINPROGRESS = -LinuxAbi.EINPROGRESS;

    /// 0 when there is none.
    static long of(@Nullable StreamFailure failure) {
        return switch (failure) {
            case null -> 0;
            case PROTOCOL -> EPROTO;
            case RESET -> ECONNRESET;
            case TIMED_OUT -> ETIMEDOUT;
            case DEVICE -> EIO;
        };
    }

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
    @SuppressWarnings("CatchAndPrintStackTrace") // there is only C above
    private static long unexpected(Throwable thrown) {
        System.err.println("verbena: a call ended with " + thrown);
        thrown.printStackTrace();
        return EIO;
    }
}
