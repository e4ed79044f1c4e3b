package verbena.conformance.rig;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import verbena.verbs.Capability;

/// What a device has to declare for a case, or all cases of a topic, to be tried. That a device refuses what it
/// does not declare is a case of its own (`Capabilities`).
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE})
public @interface Needs {
    Capability[] value();
}
