import org.jspecify.annotations.NullMarked;

/// Classes that providers of devices share. A provider extends these classes; a program never names them.
@NullMarked
@SuppressWarnings("module") // its users are compiled later
module verbena.provider {
    requires static org.jspecify;
    requires transitive verbena.verbs;

    exports verbena.provider to
            verbena.ibverbs,
            verbena.nic;
}
