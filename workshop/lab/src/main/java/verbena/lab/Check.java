package verbena.lab;

/// A row of the table.
///
/// @param name which the pattern is held against
/// @param weather what the guest's network and devices are like meanwhile
/// @param attempts 1, but for services that lose what the network loses: a ping-pong stands still then. Over
///     IPv4 nothing is lost here; of some 10,000 datagrams over IPv6 Linux 6.18 throws one away on receipt,
///     before any socket sees it (Udp6InCsumErrors: a checksum of 0, which the socket allows). Each attempt that
///     failed is reported.
/// @param act what is done, and judged
record Check(String name, Weather weather, int attempts, Act act) {
    /// The work of a check.
    interface Act {
        /// Checks, and returns when all is as it should be.
        ///
        /// @throws AssertionError what is wrong
        void run(Attempt attempt) throws InterruptedException;
    }

    static Check of(String name, Act act) {
        return new Check(name, Weather.FAIR, 1, act);
    }

    Check in(Weather other) {
        return new Check(name, other, attempts, act);
    }

    Check withAttempts(int number) {
        return new Check(name, weather, number, act);
    }
}
