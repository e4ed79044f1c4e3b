package verbena.sim.model;

/// What a key names.
public sealed interface Keyed permits ModelRegion, ModelWindow {
    ModelDomain domain();

    int key();
}
