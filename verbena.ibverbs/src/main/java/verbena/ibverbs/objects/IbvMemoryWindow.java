package verbena.ibverbs.objects;

import static verbena.foreign.rdma.VerbsStructs.MW;

import java.util.List;
import verbena.foreign.Memory;
import verbena.foreign.NativeFunction;
import verbena.foreign.linux.Errno;
import verbena.verbs.DeviceException;
import verbena.verbs.MemoryWindow;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.spi.OwnedObject;

final class IbvMemoryWindow extends OwnedObject implements MemoryWindow {
    private final OwnDomain domain;
    private final Type type;
    private final long address;
    private final NativeFunction free;
    /// The key that was asked for last, of type 2; C keeps that of type 1.
    private volatile int rkey;

    IbvMemoryWindow(OwnDomain domain, Type type) {
        super("memory window");
        this.domain = domain;
        this.type = type;
        var ops = domain.owner().ops();
        NativeFunction allocate = ops.of("ptr alloc_mw(ptr, u32)").orElseThrow();
        this.free = ops.of("u32 dealloc_mw(ptr)").orElseThrow();
        madeFrom(List.of(domain));
        var made = allocate.call(domain.address(), type.code());
        if (made.isNull()) {
            abandon();
            throw domain.owner().refused("allocateWindow", "memory windows", made.errno());
        }
        this.address = made.value();
        this.rkey = Memory.getInt(address + MW.at("rkey"));
        label("memory window 0x" + Integer.toHexString(rkey));
    }

    long address() {
        return address;
    }

    /// Records the key of a bind that was handed to the device. C leaves it to the program to write the key into
    /// its struct, and some devices find by that the window of the next bind.
    void bound(int key) {
        rkey = key;
        Memory.putInt(address + MW.at("rkey"), key);
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    @Override
    public Type type() {
        return type;
    }

    @Override
    public int rkey() {
        return rkey;
    }

    @Override
    protected synchronized void release() {
        int error = free.call(address).error();
        if (error != 0) {
            throw new DeviceException("close: " + label() + ": ibv_dealloc_mw says " + Errno.text(error));
        }
    }
}
