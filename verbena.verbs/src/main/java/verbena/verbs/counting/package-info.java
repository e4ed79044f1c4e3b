/// What a process counts, for JMX and for registries of metrics. It is for the rooms of Verbena: a program sees the
/// MBeans.
package verbena.verbs.counting;
