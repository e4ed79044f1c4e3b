package verbena.tools.doctor;

import java.util.List;

/// A check of one subject.
@FunctionalInterface
interface Check {
    List<Finding> look(Surroundings at);
}
