import org.jspecify.annotations.NullMarked;

/// The communication manager without input and output: how connections are made and ended, a function of state,
/// message and time.
@NullMarked
module verbena.cm {
    requires static org.jspecify;
    requires transitive verbena.verbs;
    requires transitive verbena.wire;

    exports verbena.cm;
}
