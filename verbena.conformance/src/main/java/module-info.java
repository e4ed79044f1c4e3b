import org.jspecify.annotations.NullMarked;

/// What the verbs promise, tried on any device: written against the interfaces alone.
@NullMarked
@SuppressWarnings("module") // its users are compiled later
module verbena.conformance {
    requires static org.jspecify;
    requires transitive verbena.verbs;

    exports verbena.conformance to
            verbena.tools;
}
