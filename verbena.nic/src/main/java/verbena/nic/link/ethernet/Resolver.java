package verbena.nic.link.ethernet;

/// Finds the Ethernet addresses of peers. For one thread at a time, but [#descriptor()] may be polled by
/// another.
interface Resolver extends AutoCloseable {
    /// The address is being asked for; [#hasNews()] will tell.
    long UNKNOWN = -1;
    /// There is none.
    long NONE = -2;

    /// The address that frames for a GID go to, 48 bits, or [#UNKNOWN], or [#NONE].
    ///
    /// @param asks whether to ask the network when the address is not known
    long mac(long gidHigh, long gidLow, boolean asks);

    /// Looks for news; returns whether there was something, so that an address that was not known may be known
    /// now.
    boolean hasNews();

    /// Readable when there is news.
    int descriptor();

    @Override
    void close();
}
