import org.jspecify.annotations.NullMarked;

/// libibverbs.so.1 and librdmacm.so.1 over Verbena: what C programs call, answered in Java.
@NullMarked
module verbena.abi {
    requires static org.jspecify;
    requires verbena.verbs;
    requires verbena.foreign;
    requires verbena.stream;
}
