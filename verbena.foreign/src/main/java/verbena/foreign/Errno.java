package verbena.foreign;

/// Error numbers of Linux, those that verbs return, with what they mean there.
public enum Errno {
    EPERM(1, "Operation not permitted"),
    ENOENT(2, "No such file or directory"),
    EINTR(4, "Interrupted system call"),
    EIO(5, "Input/output error"),
    EBADF(9, "Bad file descriptor"),
    EAGAIN(11, "Resource temporarily unavailable"),
    ENOMEM(12, "Cannot allocate memory"),
    EACCES(13, "Permission denied"),
    EFAULT(14, "Bad address"),
    EBUSY(16, "Device or resource busy"),
    ENODEV(19, "No such device"),
    EINVAL(22, "Invalid argument"),
    ENOSPC(28, "No space left"),
    ENOSYS(38, "Function not implemented"),
    ENODATA(61, "No data available"),
    EPROTONOSUPPORT(93, "Protocol not supported"),
    EOPNOTSUPP(95, "Operation not supported"),
    EADDRINUSE(98, "Address already in use"),
    EADDRNOTAVAIL(99, "Cannot assign requested address"),
    ENETUNREACH(101, "Network is unreachable"),
    ECONNRESET(104, "Connection reset by peer"),
    EISCONN(106, "Already connected"),
    ENOTCONN(107, "Not connected"),
    ETIMEDOUT(110, "Connection timed out"),
    ECONNREFUSED(111, "Connection refused"),
    EHOSTUNREACH(113, "No route to host");

    public final int code;
    private final String words;

    Errno(int code, String words) {
        this.code = code;
        this.words = words;
    }

    public boolean is(int error) {
        return code == error;
    }

    /// An error in words, for messages: `EINVAL (Invalid argument)`.
    public static String text(int error) {
        for (Errno each : values()) {
            if (each.code == error) {
                return each.name() + " (" + each.words + ")";
            }
        }
        return "error " + error;
    }

    public static boolean isUnsupported(int error) {
        return EOPNOTSUPP.is(error) || ENOSYS.is(error) || EPROTONOSUPPORT.is(error);
    }
}
