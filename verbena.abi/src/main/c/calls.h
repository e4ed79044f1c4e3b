/* What the two libraries ask of Java: one line for each call, which is a static method of that name and that many
 * arguments (see Abi.java). Arguments are pointers and integers, all passed as 64 bits; the answer is a pointer or
 * a number, or a negative errno. */
#define VERBENA_CALLS(CALL) \
    /* devices */ \
    CALL(get_device_list, 1) CALL(free_device_list, 1) CALL(get_device_name, 1) CALL(get_device_index, 1) \
    CALL(get_device_guid, 1) CALL(device_files, 2) CALL(open_device, 1) CALL(close_device, 1) CALL(async_fd, 1) \
    CALL(ack_async_event, 1) \
    CALL(query_device, 2) CALL(query_device_ex, 4) CALL(query_port, 4) CALL(query_gid, 4) CALL(query_gid_ex, 6) \
    CALL(query_gid_table, 5) CALL(query_gid_type, 4) CALL(query_pkey, 4) CALL(get_pkey_index, 3) \
    CALL(query_rt_values, 2) CALL(resolve_eth_l2, 4) CALL(text, 2) CALL(rate, 2) \
    /* memory */ \
    CALL(alloc_pd, 1) CALL(alloc_parent_domain, 2) CALL(dealloc_pd, 1) CALL(alloc_td, 2) CALL(dealloc_td, 1) \
    CALL(reg_mr, 5) CALL(rereg_mr, 6) CALL(dereg_mr, 1) CALL(advise_mr, 5) CALL(alloc_null_mr, 1) \
    CALL(alloc_mw, 2) CALL(dealloc_mw, 1) CALL(bind_mw, 3) \
    CALL(alloc_dm, 2) CALL(free_dm, 1) CALL(reg_dm_mr, 5) CALL(copy_dm, 5) \
    CALL(import_device, 1) CALL(import_pd, 2) CALL(import_mr, 2) CALL(import_dm, 2) CALL(unimport, 1) \
    /* flows */ \
    CALL(create_flow, 2) CALL(destroy_flow, 1) CALL(create_counters, 2) CALL(destroy_counters, 1) \
    CALL(attach_counters, 3) CALL(read_counters, 4) \
    /* completions */ \
    CALL(create_comp_channel, 1) CALL(destroy_comp_channel, 1) CALL(ack_cq_events, 2) CALL(create_cq, 5) \
    CALL(create_cq_ex, 2) CALL(resize_cq, 2) CALL(modify_cq, 2) CALL(destroy_cq, 1) CALL(poll_cq, 3) \
    CALL(req_notify_cq, 2) CALL(start_poll, 2) CALL(next_poll, 1) CALL(end_poll, 1) CALL(wc_read, 2) \
    /* queues */ \
    CALL(create_srq, 2) CALL(create_srq_ex, 2) CALL(get_srq_num, 2) CALL(modify_srq, 3) CALL(query_srq, 2) \
    CALL(destroy_srq, 1) CALL(post_srq_recv, 3) CALL(create_qp, 2) CALL(create_qp_ex, 2) CALL(modify_qp, 3) \
    CALL(query_qp, 4) CALL(destroy_qp, 1) CALL(qp_to_qp_ex, 1) CALL(post_send, 3) CALL(post_recv, 3) \
    CALL(create_ah, 2) CALL(create_ah_from_wc, 4) CALL(init_ah_from_wc, 5) CALL(destroy_ah, 1) \
    CALL(attach_mcast, 3) CALL(detach_mcast, 3) CALL(open_xrcd, 2) CALL(close_xrcd, 1) CALL(open_qp, 2) \
    /* requests one call at a time: ibv_wr_*(3) */ \
    CALL(wr_start, 1) CALL(wr_complete, 1) CALL(wr_abort, 1) CALL(wr_request, 6) CALL(wr_bind_mw, 4) \
    CALL(wr_set_sge, 4) CALL(wr_set_sge_list, 3) CALL(wr_set_inline, 3) CALL(wr_set_inline_list, 3) \
    CALL(wr_set_ud_addr, 4) CALL(wr_set_xrc_srqn, 2) \
    CALL(await_cq_event, 4) CALL(end_visit, 0) CALL(take_cq_event, 2) CALL(take_async_event, 2) CALL(leave, 0) \
    /* connections: rdma_cm(7) */ \
    CALL(create_event_channel, 0) CALL(destroy_event_channel, 1) CALL(take_cm_event, 2) CALL(ack_cm_event, 1) \
    CALL(create_id, 4) CALL(destroy_id, 1) CALL(migrate_id, 2) CALL(bind_addr, 2) CALL(resolve_addr, 4) \
    CALL(resolve_route, 2) CALL(cm_create_qp, 3) CALL(cm_create_qp_ex, 2) CALL(cm_destroy_qp, 1) CALL(connect, 2) \
    CALL(establish, 1) CALL(listen, 2) CALL(get_request, 2) CALL(accept, 2) CALL(reject, 3) CALL(notify, 2) \
    CALL(disconnect, 1) CALL(join_multicast, 4) CALL(leave_multicast, 2) CALL(get_port, 2) CALL(get_devices, 1) \
    CALL(free_devices, 1) CALL(set_option, 5) CALL(cm_getaddrinfo, 4) CALL(cm_freeaddrinfo, 1) CALL(init_qp_attr, 3) \
    CALL(create_ep, 4) CALL(destroy_ep, 1) CALL(cm_create_srq, 3) CALL(cm_create_srq_ex, 2) CALL(cm_destroy_srq, 1) \
    /* rsockets: rsocket(7) */ \
    CALL(rsocket, 3) CALL(rbind, 3) CALL(rlisten, 2) CALL(raccept, 3) CALL(rconnect, 3) CALL(rshutdown, 2) \
    CALL(rclose, 1) CALL(rrecvfrom, 6) CALL(rrecvmsg, 3) CALL(rreadv, 3) CALL(rsendto, 6) CALL(rsendmsg, 3) \
    CALL(rwritev, 3) CALL(rname, 4) CALL(rsetsockopt, 5) CALL(rgetsockopt, 5) CALL(rfcntl, 3) CALL(riomap, 6) \
    CALL(riounmap, 3) CALL(riowrite, 5) CALL(rpoll, 5)
