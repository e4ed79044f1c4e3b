/// The counters of a process, for JMX and for registries of metrics. The package is for the rooms of Verbena: a program
/// sees the MBeans.
package verbena.verbs.counting;
