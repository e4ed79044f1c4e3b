package verbena.abi.verbs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import verbena.abi.Errno;
import verbena.abi.Handle;
import verbena.abi.Handles;

/// Second names for objects of this process (ibv_import_device(3)): a program that has a descriptor of an open device,
/// and the numbers of objects, gets structs of its own for them. Objects of another process cannot be imported,
/// because a software device is in the process that has opened it.
final class ImportCalls {
    private ImportCalls() {}

    /// Imports the device of `fd`, which belongs to the new context from now on.
    static long importDevice(long fd) {
        String wanted = file((int) fd);
        if (wanted == null) {
            return Errno.EBADF;
        }
        for (ContextHandle each : Handles.all(ContextHandle.class)) {
            if (wanted.equals(file(each.asyncFd()))) {
                return each.imported((int) fd).pointer;
            }
        }
        return Errno.EOPNOTSUPP;
    }

    /// Returns what the kernel calls the open file; null when the descriptor is closed.
    private static @Nullable String file(int fd) {
        try {
            return Files.readSymbolicLink(Path.of("/proc/self/fd/" + fd)).toString();
        } catch (IOException _) {
            return null;
        }
    }

    static long importPd(long context, long number) {
        var by = Handles.get(context, ContextHandle.class);
        DomainHandle of = find(by, number, DomainHandle.class);
        return of == null ? Errno.ENOENT : of.imported(context).pointer;
    }

    static long importMr(long pd, long number) {
        var domain = DomainHandle.get(pd);
        RegionHandle of = find(Handles.get(domain.device, ContextHandle.class), number, RegionHandle.class);
        return of == null || of.region.protectionDomain() != domain.domain ? Errno.ENOENT : of.imported(domain).pointer;
    }

    static long importDm(long context, long number) {
        var by = Handles.get(context, ContextHandle.class);
        DeviceMemoryHandle of = find(by, number, DeviceMemoryHandle.class);
        return of == null ? Errno.ENOENT : of.imported(context).pointer;
    }

    /// Returns the object of a device by its number; null when there is none.
    private static <H extends Handle> @Nullable H find(ContextHandle by, long number, Class<H> type) {
        for (H each : Handles.all(type)) {
            ContextHandle of = Handles.find(each.device, ContextHandle.class);
            if (each.hasNumber((int) number) && of != null && of.context == by.context) {
                return each;
            }
        }
        return null;
    }

    /// Forgets a second name; the object stays.
    static long unimport(long pointer) {
        Handle handle = Handles.get(pointer, Handle.class);
        if (!handle.isImported()) {
            return Errno.EINVAL;
        }
        handle.drop();
        return 0;
    }
}
