package verbena.tools.explain;

/// The lanes of a diagram, from left to right.
enum Place {
    APPLICATION_A("application A"),
    DEVICE_A("device A"),
    DEVICE_B("device B"),
    APPLICATION_B("application B");

    private final String title;

    Place(String title) {
        this.title = title;
    }

    String title() {
        return title;
    }

    boolean isDevice() {
        return this == DEVICE_A || this == DEVICE_B;
    }

    boolean isLeft() {
        return this == APPLICATION_A || this == DEVICE_A;
    }

    /// Returns the device that an application uses, or itself.
    Place device() {
        return isLeft() ? DEVICE_A : DEVICE_B;
    }

    /// Returns the device at the other end of the wire.
    Place opposite() {
        return isLeft() ? DEVICE_B : DEVICE_A;
    }

    /// Returns a word for programs that draw.
    String id() {
        return (isDevice() ? "dev" : "app") + end();
    }

    /// Returns `A` or `B`.
    String end() {
        return isLeft() ? "A" : "B";
    }
}
