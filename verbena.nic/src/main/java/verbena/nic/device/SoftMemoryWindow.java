package verbena.nic.device;

import verbena.transport.memory.Window;
import verbena.verbs.MemoryWindow;
import verbena.verbs.ProtectionDomain;
import verbena.verbs.spi.OwnedObject;

final class SoftMemoryWindow extends OwnedObject implements MemoryWindow {
    private final SoftProtectionDomain domain;
    private final Window window;

    SoftMemoryWindow(SoftProtectionDomain domain, Window window) {
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
    public int type() {
        return window.type();
    }

    @Override
    public int rkey() {
        return window.key();
    }

    @Override
    protected boolean help() {
        return domain.soft().engines().help();
    }

    @Override
    protected void release() {
        boolean _ = domain.soft()
                .engines()
                .alone(() -> domain.soft().engines().memory().remove(window));
    }
}
