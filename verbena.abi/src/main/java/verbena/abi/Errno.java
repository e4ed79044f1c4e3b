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

/// The errors of calls that fail, negative as in the kernel, and the errno of each exception.
public final class Errno {
    public static final long EPERM = -LinuxAbi.EPERM;
    public static final long EFAULT = -LinuxAbi.EFAULT;
    public static final long ENOENT = -LinuxAbi.ENOENT;
    public static final long EIO = -LinuxAbi.EIO;
    public static final long EBADF = -LinuxAbi.EBADF;
    public static final long EAGAIN = -LinuxAbi.EAGAIN;
    public static final long ENOMEM = -LinuxAbi.ENOMEM;
    static final long EBUSY = -LinuxAbi.EBUSY;
    public static final long ENODEV = -LinuxAbi.ENODEV;
    public static final long EINVAL = -LinuxAbi.EINVAL;
    static final long EMFILE = -LinuxAbi.EMFILE;
    static final long ENOSPC = -LinuxAbi.ENOSPC;
    public static final long EPIPE = -LinuxAbi.EPIPE;
    public static final long ENAMETOOLONG = -LinuxAbi.ENAMETOOLONG;
    public static final long EPROTO = -LinuxAbi.EPROTO;
    public static final long EDESTADDRREQ = -LinuxAbi.EDESTADDRREQ;
    public static final long EMSGSIZE = -LinuxAbi.EMSGSIZE;
    public static final long ENOPROTOOPT = -LinuxAbi.ENOPROTOOPT;
    public static final long EPROTONOSUPPORT = -LinuxAbi.EPROTONOSUPPORT;
    public static final long EOPNOTSUPP = -LinuxAbi.EOPNOTSUPP;
    static final long EAFNOSUPPORT = -LinuxAbi.EAFNOSUPPORT;
    public static final long EADDRINUSE = -LinuxAbi.EADDRINUSE;
    public static final long ENETUNREACH = -LinuxAbi.ENETUNREACH;
    public static final long EADDRNOTAVAIL = -LinuxAbi.EADDRNOTAVAIL;
    public static final long ECONNABORTED = -LinuxAbi.ECONNABORTED;
    public static final long ECONNRESET = -LinuxAbi.ECONNRESET;
    public static final long EISCONN = -LinuxAbi.EISCONN;
    public static final long ENOTCONN = -LinuxAbi.ENOTCONN;
    public static final long ETIMEDOUT = -LinuxAbi.ETIMEDOUT;
    public static final long ECONNREFUSED = -LinuxAbi.ECONNREFUSED;
    public static final long EHOSTUNREACH = -LinuxAbi.EHOSTUNREACH;
    public static final long EALREADY = -LinuxAbi.EALREADY;
    public static final long EINPROGRESS = -LinuxAbi.EINPROGRESS;

    /// Returns the errno of a failure; 0 when there is none.
    public static long of(@Nullable StreamFailure failure) {
        return switch (failure) {
            case null -> 0;
            case PROTOCOL -> EPROTO;
            case RESET -> ECONNRESET;
            case TIMED_OUT -> ETIMEDOUT;
            case DEVICE -> EIO;
        };
    }

    /// The setting of `verbena run --explain`: each call that fails is explained on standard error, one line each.
    private static final boolean EXPLAIN = System.getenv("VERBENA_EXPLAIN") != null;

    private Errno() {}

    /// Returns the negative errno that describes it best; the text goes to standard error when it is wanted.
    public static long of(Throwable thrown) {
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
