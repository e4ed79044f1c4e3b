package verbena.sim.model;

/// A protection domain (IBTA 10.2.3).
public final class ModelDomain extends ModelObject {
    private final ModelDevice device;

    ModelDomain(ModelDevice device) {
        this.device = device;
    }

    ModelDevice device() {
        return device;
    }

    @Override
    void end() {}
}
