import org.jspecify.annotations.NullMarked;

/// A layer in front of any device, which holds what a program does against what the standard allows.
@NullMarked
@SuppressWarnings("module") // the command line is compiled later
module verbena.check {
    requires static org.jspecify;
    requires transitive verbena.verbs;

    exports verbena.check to
            verbena.tools;
    exports verbena.check.device to
            verbena.junit;
    exports verbena.check.litmus to
            verbena.tools;
    exports verbena.check.races to
            verbena.tools;

    provides verbena.verbs.spi.Provider with
            verbena.check.device.CheckProvider;
    provides verbena.verbs.internal.DeviceLayer with
            verbena.check.device.CheckProvider;
}
