package verbena.sim.model;

import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import verbena.verbs.Access;

/// A memory window (IBTA 10.6.7).
public final class ModelWindow extends ModelObject implements Keyed {
    /// What it shows while it is bound.
    ///
    /// @param address of its first byte in the region
    /// @param queuePair the one that bound it
    record Binding(ModelRegion region, long address, long length, Set<Access> access, ModelQueuePair queuePair) {}

    private final ModelDomain domain;
    private final int type;
    private int key;
    private @Nullable Binding binding;

    ModelWindow(ModelDomain domain, int type, int key) {
        super(domain);
        this.domain = domain;
        this.type = type;
        this.key = key;
    }

    @Override
    public ModelDomain domain() {
        return domain;
    }

    @Override
    public int key() {
        return key;
    }

    public int type() {
        return type;
    }

    public boolean isBound() {
        return binding != null;
    }

    Binding binding() {
        return Objects.requireNonNull(binding);
    }

    void bind(Binding to, int newKey) {
        unbind();
        binding = to;
        to.region().windows++;
        key = newKey;
    }

    /// A type 1 window is unbound by binding nothing, which changes its key too.
    void bindNothing(int newKey) {
        unbind();
        key = newKey;
    }

    void unbind() {
        if (binding != null) {
            binding.region().windows--;
            binding = null;
        }
    }

    @Override
    void end() {
        domain.device().forget(this);
        unbind();
    }
}
