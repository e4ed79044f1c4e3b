import org.jspecify.annotations.NullMarked;

/// The counters of a process as meters of Micrometer.
@NullMarked
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic"}) // Micrometer's jars have no descriptors
module verbena.micrometer {
    requires static org.jspecify;
    requires transitive micrometer.core;
    requires verbena.verbs;

    exports verbena.micrometer;
}
