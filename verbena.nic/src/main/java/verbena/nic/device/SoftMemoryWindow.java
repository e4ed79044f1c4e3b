package verbena.nic.device;

import verbena.transport.memory.Window;
import verbena.verbs.MemoryWindow;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.spi.OwnedObject;

final class SoftMemoryWindow extends OwnedObject implements MemoryWindow {
    private final SoftDomain domain;
    private final Window window;

    SoftMemoryWindow(SoftDomain domain, Window window) {
        super("memory window 0x" + Integer.toHexString(window.key()));
        this.domain = domain;
        this.window = window;
        madeFrom(domain);
    }

    Window window() {
        return window;
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    @Override
    public Type type() {
        return Type.ofCode(window.type());
    }

    @Override
    public int rkey() {
        return window.key();
    }

    @Override
    protected boolean help() {
        return domain.core().engines.help();
    }

    @Override
    protected void release() {
        boolean _ =
                domain.core().engines.alone(() -> domain.core().engines.memory().remove(window));
    }
}
