/// The subnet manager and the subnet administration: functions of datagrams and time.
package verbena.subnet.manager;
