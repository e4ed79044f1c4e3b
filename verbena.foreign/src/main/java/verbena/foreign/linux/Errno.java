package verbena.foreign.linux;

/// Error numbers of Linux, those that verbs return, with what they mean there.
public enum Errno {
    EPERM(LinuxAbi.EPERM, "Operation not permitted"),
    ENOENT(LinuxAbi.ENOENT, "No such file or directory"),
    EINTR(LinuxAbi.EINTR, "Interrupted system call"),
    EIO(LinuxAbi.EIO, "Input/output error"),
    EBADF(LinuxAbi.EBADF, "Bad file descriptor"),
    EAGAIN(LinuxAbi.EAGAIN, "Resource temporarily unavailable"),
    ENOMEM(LinuxAbi.ENOMEM, "Cannot allocate memory"),
    EACCES(LinuxAbi.EACCES, "Permission denied"),
    EFAULT(LinuxAbi.EFAULT, "Bad address"),
    EBUSY(LinuxAbi.EBUSY, "Device or resource busy"),
    ENODEV(LinuxAbi.ENODEV, "No such device"),
    EINVAL(LinuxAbi.EINVAL, "Invalid argument"),
    ENOSPC(LinuxAbi.ENOSPC, "No space left"),
    ENOSYS(LinuxAbi.ENOSYS, "Function not implemented"),
    ENODATA(LinuxAbi.ENODATA, "No data available"),
    EPROTONOSUPPORT(LinuxAbi.EPROTONOSUPPORT, "Protocol not supported"),
    EOPNOTSUPP(LinuxAbi.EOPNOTSUPP, "Operation not supported"),
    EADDRINUSE(LinuxAbi.EADDRINUSE, "Address already in use"),
    EADDRNOTAVAIL(LinuxAbi.EADDRNOTAVAIL, "Cannot assign requested address"),
    ENETUNREACH(LinuxAbi.ENETUNREACH, "Network is unreachable"),
    ECONNRESET(LinuxAbi.ECONNRESET, "Connection reset by peer"),
    EISCONN(LinuxAbi.EISCONN, "Already connected"),
    ENOTCONN(LinuxAbi.ENOTCONN, "Not connected"),
    ETIMEDOUT(LinuxAbi.ETIMEDOUT, "Connection timed out"),
    ECONNREFUSED(LinuxAbi.ECONNREFUSED, "Connection refused"),
    EHOSTUNREACH(LinuxAbi.EHOSTUNREACH, "No route to host");

    public final int code;
    private final String words;

    Errno(int code, String words) {
        this.code = code;
        this.words = words;
    }

    public boolean is(int error) {
        return code == error;
    }

    /// Returns the text of an error, for messages: `EINVAL (Invalid argument)`.
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
