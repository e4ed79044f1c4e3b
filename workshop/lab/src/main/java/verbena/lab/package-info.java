/// The lab's checks: Verbena against the Linux kernel's soft-RoCE and soft-iWARP and rdma-core's programs, in
/// guests that a program `lab` starts. [Table] has a row for each check, [LabTest] makes them tests of JUnit,
/// [Main] runs and counts them. Verbena itself is run as its users run it: as processes.
@NullMarked
package verbena.lab;

import org.jspecify.annotations.NullMarked;
