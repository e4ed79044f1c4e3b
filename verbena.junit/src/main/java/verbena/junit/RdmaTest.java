package verbena.junit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;
import verbena.verbs.Preview;

/// A class of tests, or one test, whose methods take what RDMA needs as parameters:
///
/// ```java
/// @RdmaTest(faults = "loss:2%,reorder:1%")
/// class EchoTest {
///     @Test
///     void aMessageArrives(ConnectedEnds ends) throws InterruptedException {
///         ends.client().send("hello");
///         assertEquals("hello", ends.server().receiveText(100));
///     }
/// }
/// ```
///
/// | parameter | what the test gets |
/// |---|---|
/// | [ConnectedEnds] | two connected ends, each at a device of its own |
/// | [verbena.verbs.Context] | an opened device; each parameter another one |
/// | [TestPeer], with [RunsIn] | a program that runs in a process of its own |
///
/// All of it is made for one test, and closed after it. When the test fails, the packets of its devices and the
/// output of its processes are kept in a folder that the failure names, with the seed of the faults.
///
/// The annotation of a method takes the place of that of its class. Tests may run in parallel.
///
/// Two system properties change a run without a change of the tests:
///
/// | property | meaning |
/// |---|---|
/// | `verbena.test.device` | the device of all tests, in place of [#device()], such as a card |
/// | `verbena.test.seed` | the seed of all faults, in place of a drawn one: it repeats a failure |
///
/// When the device of `verbena.test.device` has no faults, the tests run without [#faults()].
///
/// @since 0.1
@Preview
@Documented
@Inherited
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(RdmaExtension.class)
public @interface RdmaTest {
    /// Returns the name of the device, as [verbena.verbs.Device#named] takes it.
    String device() default "rocev2";

    /// Returns what the network does to packets, as the option `faults` of a device has it, without a seed:
    /// `loss:5%,reorder:1%`. Empty for nothing.
    String faults() default "";

    /// Returns the seed of the faults; 0 draws one for each test.
    long seed() default 0;

    /// Returns how many bytes a message to one of [ConnectedEnds] may have, because each end has posted receives of
    /// that size before. So one thread can send at one end and then receive at the other. With 0 the test posts
    /// receives ([verbena.verbs.cm.Connection#postReceive]), before the other end sends.
    int receivesAhead() default 16_384;

    /// Returns whether the layer of checks is in front of the devices (`verbena.check`). The test fails when it
    /// does something that is undefined, or that only works by luck.
    boolean check() default false;

    /// Returns whether the checks take threads for ordered only by what they can see; this implies [#check()]. The
    /// test then tells how its threads hand over ([verbena.verbs.Context#noteRelease]).
    boolean checkThreads() default false;

    /// Returns whether the devices write their packets into files, which are kept when the test fails. Devices that
    /// cannot, do not.
    boolean packets() default true;
}
