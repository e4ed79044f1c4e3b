package verbena.nic.link.ethernet;

/// The resolver of the Ethernet addresses of peers. For one thread at a time, but [#descriptor()] may be polled by
/// another.
interface Resolver extends AutoCloseable {
    /// The result for an address that is being asked for; [#hasNews()] then becomes true.
    long UNKNOWN = -1;
    /// The result for a peer without an address.
    long NONE = -2;

    /// Returns the address that frames for a GID go to, 48 bits, or [#UNKNOWN], or [#NONE].
    ///
    /// @param asks whether to ask the network when the address is not known
    long mac(long gidHigh, long gidLow, boolean asks);

    /// Looks for news; returns whether there was something, so that an address that was not known may be known
    /// now.
    boolean hasNews();

    /// Returns a descriptor that is readable when an address has changed.
    int descriptor();

    @Override
    void close();
}
