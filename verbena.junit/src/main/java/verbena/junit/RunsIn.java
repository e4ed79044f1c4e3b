package verbena.junit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import verbena.verbs.Preview;

/// The program of a [TestPeer] that a test takes as a parameter. It runs in a JVM of its own. The jars of the test's
/// class path and module path are on its class path, and it has the system properties that begin with `verbena.`.
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

    /// Returns how many seconds it has until it says that it is ready ([TestPeer#ready]).
    int seconds() default 30;
}
