import org.jspecify.annotations.NullMarked;

/// How connections are made and ended, without input and output: the communication manager of RoCE, and MPA of
/// iWARP. A function of state, message and time.
@NullMarked
@SuppressWarnings("module") // its users are compiled later
module verbena.cm {
    requires static org.jspecify;
    requires transitive verbena.verbs;
    requires transitive verbena.wire;

    exports verbena.cm to
            verbena.nic;
    exports verbena.cm.mpa to
            verbena.nic;
    exports verbena.cm.noise to
            verbena.nic;
}
