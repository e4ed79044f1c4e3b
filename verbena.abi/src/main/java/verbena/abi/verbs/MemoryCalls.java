package verbena.abi.verbs;

import static verbena.foreign.rdma.VerbsStructs.MW_BIND;
import static verbena.foreign.rdma.VerbsStructs.SGE;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import verbena.abi.Errno;
import verbena.abi.Handles;
import verbena.abi.Native;
import verbena.abi.Operations;
import verbena.foreign.Memory;
import verbena.foreign.SystemFunction;
import verbena.foreign.rdma.VerbsConstants;
import verbena.verbs.Access;
import verbena.verbs.Advice;
import verbena.verbs.InvalidStateException;
import verbena.verbs.LocalMemory;
import verbena.verbs.MemoryRegion;
import verbena.verbs.MemoryWindow;
import verbena.verbs.SendBatch;
import verbena.verbs.spi.Registration;

/// Protection domains, memory regions and windows.
final class MemoryCalls {
    /// Bits that a provider may pass over (`IBV_ACCESS_OPTIONAL_RANGE`).
    static final int OPTIONAL = 0x3FF0_0000;
    /// The length of a region that has the whole address space, or no memory.
    private static final long SIZE_MAX = -1;
    private static final List<Advice> ADVICE = List.of(Advice.values());
    /// A flag that has no effect here: the use of the region by the kernel, or by pages.
    private static final int HUGETLB = Access.HUGETLB.bit();

    private static final int REREG_FLAGS = VerbsConstants.IBV_REREG_MR_CHANGE_TRANSLATION
            | VerbsConstants.IBV_REREG_MR_CHANGE_PD
            | VerbsConstants.IBV_REREG_MR_CHANGE_ACCESS;
    /// No errno has this number.
    private static final long WRONG_INPUT = -4_095;

    /// Rights for which the kernel wants to write to the memory (`ib_access_writable`).
    private static final Set<Access> WRITING =
            Set.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE, Access.REMOTE_ATOMIC, Access.MW_BIND);

    private static final Set<Long> THREAD_DOMAINS = ConcurrentHashMap.newKeySet();

    private MemoryCalls() {}

    // ---- protection domains

    static long allocPd(long context) {
        return allocate(context).pointer;
    }

    static DomainHandle allocate(long context) {
        var domain = Handles.get(context, ContextHandle.class).context.allocateProtectionDomain();
        return DomainHandle.of(domain, context);
    }

    /// Reads `struct ibv_parent_domain_init_attr`: the protection domain, a thread domain, a mask.
    static long allocParentDomain(long context, long attributes) {
        Handles.get(context, ContextHandle.class);
        var domain = DomainHandle.get(Memory.getLong(Native.some(attributes)));
        long threads = Memory.getLong(attributes + 8);
        if (threads != 0 && !THREAD_DOMAINS.contains(threads)) {
            return Errno.EINVAL;
        }
        return domain.parent().pointer;
    }

    static long deallocPd(long pd) {
        DomainHandle.get(pd).destroy();
        return 0;
    }

    /// Makes a thread domain, a hint that the objects made with it are used by one thread.
    static long allocTd(long context, long attributes) {
        Handles.get(context, ContextHandle.class);
        if (Memory.getInt(Native.some(attributes)) != 0) { // a mask of what there is not yet
            return Errno.EINVAL;
        }
        long pointer = Native.allocate(Long.BYTES);
        Memory.putLong(pointer, context);
        THREAD_DOMAINS.add(pointer);
        return pointer;
    }

    static long deallocTd(long threads) {
        if (!THREAD_DOMAINS.remove(threads)) {
            return Errno.EINVAL;
        }
        Native.free(threads);
        return 0;
    }

    // ---- regions

    static long regMr(long pd, long address, long length, long iova, long access) {
        var domain = DomainHandle.get(pd);
        Set<Access> rights = rights(access);
        Registration.checkAccess("register", rights);
        long error = check(address, length, rights);
        if (error != 0) {
            return error;
        }
        MemoryRegion region = register(domain, address, length, iova, rights);
        return RegionHandle.of(region, domain, address, length).pointer;
    }

    private static MemoryRegion register(
            DomainHandle domain, long address, long length, long iova, Set<Access> rights) {
        if (rights.contains(Access.ON_DEMAND) && address == 0 && length == SIZE_MAX) {
            return domain.domain.registerAddressSpace(rights);
        }
        if (length < 0) {
            throw new IllegalArgumentException("length: " + Long.toUnsignedString(length) + " is too much");
        }
        long base = rights.contains(Access.ZERO_BASED) && iova == address ? 0 : iova;
        return domain.domain.register(Native.at(address, length), base, rights);
    }

    static long allocNullMr(long pd) {
        var domain = DomainHandle.get(pd);
        return RegionHandle.of(domain.domain.allocateNull(), domain, 0, SIZE_MAX).pointer;
    }

    /// Reads a list of `struct ibv_sge`. Errors are those of ibv_advise_mr(3).
    static long adviseMr(long pd, long advice, long flags, long ranges, long count) {
        var domain = DomainHandle.get(pd);
        if ((flags & ~VerbsConstants.IBV_ADVISE_MR_FLAG_FLUSH) != 0 || count == 0) {
            return Errno.EINVAL;
        }
        if (advice < 0 || advice >= ADVICE.size()) {
            return Errno.EOPNOTSUPP;
        }
        var named = new ArrayList<LocalMemory>();
        for (long at = Native.some(ranges); named.size() < count; at += SGE.size()) {
            int lkey = Memory.getInt(at + SGE.at("lkey"));
            long length = Integer.toUnsignedLong(Memory.getInt(at + SGE.at("length")));
            MemoryRegion region = Handles.all(RegionHandle.class).stream()
                    .map(RegionHandle::object)
                    .filter(each ->
                            each.lkey() == lkey && each.protectionDomain().context() == domain.domain.context())
                    .findFirst()
                    .orElse(null);
            if (region == null) {
                return Errno.ENOENT;
            }
            if (region.protectionDomain() != domain.domain
                    || (advice == Advice.PREFETCH_WRITE.code()
                            && !region.access().contains(Access.LOCAL_WRITE))) {
                return Errno.EPERM;
            }
            long offset = Memory.getLong(at + SGE.at("addr")) - region.address();
            if (offset < 0 || offset > region.length() - length) {
                return Errno.EFAULT;
            }
            named.add(region.slice(offset, length));
        }
        try {
            LocalMemory[] all = named.toArray(LocalMemory[]::new);
            if (flags != 0) {
                domain.domain.advise(ADVICE.get((int) advice), all);
            } else {
                domain.domain.adviseLater(ADVICE.get((int) advice), all);
            }
            return 0;
        } catch (InvalidStateException e) {
            return Errno.EFAULT; // some of the memory is not there
        }
    }

    /// Returns the kernel's error for memory that it is to pin (`ib_umem_get`). It is EFAULT when a part is
    /// missing, or may not be written although it is to be. Memory on demand is not pinned.
    private static long check(long address, long length, Set<Access> rights) {
        if (rights.contains(Access.ON_DEMAND)) {
            return 0;
        }
        boolean isWritten = WRITING.stream().anyMatch(rights::contains);
        return length == 0 ? 0 : -Checks.MEMORY.call(address, length, isWritten ? 1 : 0);
    }

    /// Found by the first registration.
    private static final class Checks {
        static final SystemFunction MEMORY = SystemFunction.at(Operations.address("check_memory"));
    }

    private static Set<Access> rights(long access) {
        return Access.ofBits((int) access & ~OPTIONAL & ~HUGETLB);
    }

    /// Changes a region in the points that the flags name. A change of memory is a new region under the same
    /// pointer, with new keys. An error that the library itself finds is `IBV_REREG_MR_ERR_INPUT`
    /// (ibv_rereg_mr(3)). Any other error is the kernel's for a card, with `IBV_REREG_MR_ERR_CMD`. `ibverbs.c`
    /// distinguishes the two by [#WRONG_INPUT].
    static long reregMr(long mr, long flags, long pd, long address, long length, long access) {
        var given = Handles.find(mr, RegionHandle.class);
        boolean memory = (flags & VerbsConstants.IBV_REREG_MR_CHANGE_TRANSLATION) != 0;
        boolean rightsChange = (flags & VerbsConstants.IBV_REREG_MR_CHANGE_ACCESS) != 0;
        if (given == null
                || (flags & ~REREG_FLAGS) != 0
                || (memory && (address == 0 || length == 0))
                || (access != 0 && !rightsChange)) {
            return WRONG_INPUT;
        }
        if (flags == 0) {
            return Errno.EINVAL;
        }
        var handle = Handles.byNumber(mr, RegionHandle.class);
        var domain = (flags & VerbsConstants.IBV_REREG_MR_CHANGE_PD) != 0 ? DomainHandle.get(pd) : handle.domain;
        if (handle.region.rkey() == 0) { // a null region
            return Errno.EINVAL;
        }
        Set<Access> rights = rightsChange ? rights(access) : handle.region.access();
        if (memory || rightsChange) {
            Registration.checkAccess("reregister", rights);
            long error = memory ? check(address, length, rights) : check(handle.address(), handle.length(), rights);
            if (error != 0) {
                return error;
            }
        }
        if (memory) {
            MemoryRegion replaced = handle.region;
            MemoryRegion made = register(domain, address, length, address, rights);
            try {
                replaced.close();
            } catch (RuntimeException e) {
                made.close();
                throw e;
            }
            handle.region = made;
            handle.domain = domain;
            handle.put(address, length);
        } else {
            handle.region.reregister(domain.domain, rights);
            handle.domain = domain;
            handle.put(handle.address(), handle.length());
        }
        return 0;
    }

    static long deregMr(long mr) {
        Handles.byNumber(mr, RegionHandle.class).destroy();
        return 0;
    }

    // ---- windows

    static long allocMw(long pd, long type) {
        var domain = DomainHandle.get(pd);
        return WindowHandle.of(domain.domain.allocateWindow(MemoryWindow.Type.ofCode((int) type)), domain).pointer;
    }

    static long deallocMw(long mw) {
        Handles.byNumber(mw, WindowHandle.class).destroy();
        return 0;
    }

    /// Binds a window of type 1, as ibv_bind_mw(3) describes; the new key is in the window then.
    static long bindMw(long qp, long mw, long bind) {
        var sends = Handles.get(qp, QueuePairHandle.class);
        var window = Handles.get(mw, WindowHandle.class);
        long info = Native.some(bind) + MW_BIND.at("bind_info");
        if (window.window.type() != MemoryWindow.Type.TYPE_1) {
            return Errno.EINVAL;
        }
        int rkey = window.window.nextRkey();
        try (SendBatch batch = sends.qp.sendBatch()) {
            SendCalls.bind(batch, sends, Memory.getLong(bind), mw, rkey, info);
            SendCalls.flags(batch, Memory.getInt(bind + MW_BIND.at("send_flags")));
            batch.submit();
        }
        window.onBindPosted(rkey);
        return 0;
    }
}
