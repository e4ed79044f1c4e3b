package verbena.lab;

/// A program and where it runs. `PORT` stands for a port of this attempt's own.
///
/// @param line the program and its arguments, with blanks between them
/// @param seconds that it may take
record Command(Place place, String line, int seconds) {
    /// The side on which a program runs.
    enum Place {
        /// A command of Verbena, on our side of the bridge.
        OURS,
        /// A program in the guest.
        THEIRS,
        /// A command of Verbena in the guest, over the kernel's devices.
        IN_GUEST
    }

    static Command ours(String line) {
        return new Command(Place.OURS, line, 90);
    }

    static Command theirs(int seconds, String line) {
        return new Command(Place.THEIRS, line, seconds);
    }

    static Command inGuest(int seconds, String line) {
        return new Command(Place.IN_GUEST, line, seconds);
    }
}
