package verbena.abi.verbs;

import static verbena.foreign.rdma.VerbsStructs.MW;

import verbena.abi.Handle;
import verbena.abi.Handles;
import verbena.abi.Native;
import verbena.foreign.Memory;
import verbena.verbs.MemoryWindow;

/// A memory window and its `struct ibv_mw`.
final class WindowHandle extends Handle {
    final MemoryWindow window;

    private WindowHandle(long pointer, MemoryWindow window, DomainHandle domain) {
        super(pointer, domain.device);
        this.window = window;
    }

    static WindowHandle of(MemoryWindow window, DomainHandle domain) {
        long pointer = Native.allocate(MW.size());
        Memory.putLong(pointer + MW.at("context"), domain.device);
        Memory.putLong(pointer + MW.at("pd"), domain.pointer);
        Memory.putInt(pointer + MW.at("rkey"), window.rkey());
        Memory.putInt(pointer + MW.at("type"), window.type().code());
        return Handles.put(new WindowHandle(pointer, window, domain));
    }

    /// Handles a bind that is posted under this key. From now on `mw->rkey` names the coming key; a program whose
    /// bind fails puts the old one back (ibv_bind_mw(3)).
    void onBindPosted(int rkey) {
        Memory.putInt(pointer + MW.at("rkey"), (window.rkey() & ~0xFF) | (rkey & 0xFF));
    }

    @Override
    protected long numberAt() {
        return MW.at("handle");
    }

    @Override
    public MemoryWindow object() {
        return window;
    }
}
