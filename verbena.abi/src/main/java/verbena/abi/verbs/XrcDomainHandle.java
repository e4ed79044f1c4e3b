package verbena.abi.verbs;

import static verbena.foreign.rdma.VerbsStructs.XRCD;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import verbena.abi.Errno;
import verbena.abi.Handle;
import verbena.abi.Handles;
import verbena.abi.Native;
import verbena.foreign.Memory;
import verbena.verbs.XrcDomain;

/// A reference to an XRC domain and its `struct ibv_xrcd`. Descriptors of one file lead to one domain, as long as
/// there is a reference to that (ibv_open_xrcd(3)); within this process only, because each has a device of its own.
final class XrcDomainHandle extends Handle {
    /// A domain, and how many references there are.
    private static final class Shared {
        final XrcDomain domain;
        final long device;
        /// The file that it belongs to; null for none.
        final @Nullable Object file;

        int references;

        Shared(XrcDomain domain, long device, @Nullable Object file) {
            this.domain = domain;
            this.device = device;
            this.file = file;
        }
    }

    /// Those that belong to a file; under the class.
    private static final List<Shared> OF_FILES = new ArrayList<>();

    private final Shared shared;

    private XrcDomainHandle(long pointer, Shared shared) {
        super(pointer, shared.device);
        this.shared = shared;
        Memory.putLong(pointer + XRCD.at("context"), shared.device);
    }

    /// Opens a domain; returns a negative errno when the flags do not allow it, as in the kernel.
    ///
    /// @param fd of the file; -1 for none
    static long open(ContextHandle context, int fd, boolean creates, boolean isExclusive) {
        synchronized (XrcDomainHandle.class) {
            @Nullable Object file;
            try {
                file = fd == -1 ? null : file(fd);
            } catch (IOException e) {
                return Errno.EBADF;
            }
            Shared found = file == null ? null : find(context.pointer, file);
            if (found != null && isExclusive) {
                return Errno.EINVAL;
            }
            if (found == null && file != null && !creates) {
                return Errno.EAGAIN;
            }
            if (found == null) {
                found = new Shared(context.context.openXrcDomain(), context.pointer, file);
                if (file != null) {
                    OF_FILES.add(found);
                }
            }
            found.references++;
            return Handles.put(new XrcDomainHandle(Native.allocate(XRCD.size()), found)).pointer;
        }
    }

    private static @Nullable Shared find(long device, Object file) {
        return OF_FILES.stream()
                .filter(each -> each.device == device && file.equals(each.file))
                .findFirst()
                .orElse(null);
    }

    /// Returns the device and inode of an open file.
    private static Object file(int fd) throws IOException {
        return Files.readAttributes(Path.of("/proc/self/fd/" + fd), "unix:dev,ino");
    }

    static XrcDomainHandle get(long pointer) {
        return Handles.get(pointer, XrcDomainHandle.class);
    }

    @Override
    public XrcDomain object() {
        return shared.domain;
    }

    /// Closes a reference; the last one closes the domain.
    @Override
    protected void close() {
        synchronized (XrcDomainHandle.class) {
            if (shared.references == 1) {
                shared.domain.close();
                OF_FILES.remove(shared);
            }
            shared.references--;
        }
    }
}
