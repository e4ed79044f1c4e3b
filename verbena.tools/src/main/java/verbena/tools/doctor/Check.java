package verbena.tools.doctor;

import java.util.List;

/// Looks at one thing.
@FunctionalInterface
interface Check {
    List<Finding> look(Surroundings at);
}
