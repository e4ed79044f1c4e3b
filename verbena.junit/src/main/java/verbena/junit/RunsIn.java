package verbena.junit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import verbena.verbs.Preview;

/// The program of a [TestPeer] that a test takes as a parameter. It runs in a JVM of its own, with native access. The
/// jars of the test's class path and module path are on its class path, so the program is in no named module. It has
/// the test's system properties that begin with `verbena.`, and none of the other flags of the test's JVM.
///
/// @since 0.1
@Preview
@Documented
@Target(ElementType.PARAMETER)
@Retention(RetentionPolicy.RUNTIME)
public @interface RunsIn {
    /// Returns the class whose `main` runs.
    Class<?> value();

    /// Returns the arguments of `main`.
    String[] arguments() default {};

    /// Returns how many seconds the program has until it must have called [TestPeer#ready].
    int seconds() default 30;
}
