import org.jspecify.annotations.NullMarked;

/// What is C's: memory by address, functions, errors, structs and numbers of Linux, libibverbs and librdmacm. Only
/// rooms of ours see it, as it can write anywhere.
@NullMarked
@SuppressWarnings("module") // its users are compiled later
module verbena.foreign {
    requires static org.jspecify;
    requires verbena.verbs;

    exports verbena.foreign to
            verbena.abi,
            verbena.ibverbs,
            verbena.nic;
    exports verbena.foreign.crypto to
            verbena.nic;
    exports verbena.foreign.linux to
            verbena.abi,
            verbena.ibverbs,
            verbena.nic;
    exports verbena.foreign.rdma to
            verbena.abi,
            verbena.ibverbs;
}
