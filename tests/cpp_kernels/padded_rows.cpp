
#include <torch/csrc/inductor/cpp_prefix.h>
extern "C"  void  cpp_fused_arange_cat_constant_pad_nd_index_mul_slice_sub_0(const float* in_ptr0,
                       const float* in_ptr1,
                       float* out_ptr0,
                       float* out_ptr1,
                       const int64_t ks0,
                       const int64_t ks1)
{
    std::atomic<int> inductor_cpu_integer_div_error{0};
    inductor_cpu_integer_div_error_flag = &inductor_cpu_integer_div_error;
    {
        #pragma GCC ivdep
        for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(3L + ks0); x0+=static_cast<int64_t>(1L))
        {
            for(int64_t x1=static_cast<int64_t>(0L); x1<static_cast<int64_t>(10L); x1+=static_cast<int64_t>(8L))
            {
                {
                    if(C10_LIKELY(x1 >= static_cast<int64_t>(0) && x1 < static_cast<int64_t>(8L)))
                    {
                        auto tmp0 = (-2L) + x0;
                        auto tmp1 = c10::convert<int64_t>(tmp0);
                        auto tmp2 = static_cast<int64_t>(0);
                        auto tmp3 = tmp1 >= tmp2;
                        auto tmp4 = ks0;
                        auto tmp5 = c10::convert<int64_t>(tmp4);
                        auto tmp6 = tmp1 < tmp5;
                        auto tmp7 = (-3L) + x1;
                        auto tmp8 = c10::convert<int64_t>(tmp7);
                        auto tmp9 = at::vec::VectorizedN<int64_t,2>::arange(tmp8, 1);
                        auto tmp10 = at::vec::VectorizedN<int64_t,2>(tmp2);
                        auto tmp11 = at::vec::VecMask<int64_t,2>(tmp9 >= tmp10);
                        auto tmp12 = static_cast<int64_t>(16);
                        auto tmp13 = at::vec::VectorizedN<int64_t,2>(tmp12);
                        auto tmp14 = at::vec::VecMask<int64_t,2>(tmp9 < tmp13);
                        auto tmp15 = tmp3 & tmp6;
                        auto tmp16 = at::vec::VecMask<float,1>::from(tmp15);
                        auto tmp17 = tmp16 & tmp11;
                        auto tmp18 = tmp17 & tmp14;
                        auto tmp19 = [&]
                        {
                            auto tmp20 = ((-10L) + 2L*x0 < 0L) ? ((-10L) + ks1 + 2L*x0) : ((-10L) + 2L*x0);
                            auto tmp21 = c10::convert<int64_t>(tmp20);
                            AOTI_TORCH_CHECK(((0 <= tmp21) & (tmp21 < ks1)) | ~((tmp18).all_masked()), "index out of bounds: 0 <= tmp21 < ks1");
                            auto tmp23 = tmp18.template cast<float,1>().template loadu<float,1>(in_ptr0 + static_cast<int64_t>((-3L) + x1 + 16L*(((-10L) + 2L*x0 < 0L) ? ((-10L) + ks1 + 2L*x0) : ((-10L) + 2L*x0))));
                            return tmp23;
                        }
                        ;
                        auto tmp26 =
                        [&]
                        {
                            if (tmp18.all_zero())
                            {
                                return at::vec::Vectorized<float>(static_cast<float>(0.0));
                            }
                            else
                            {
                                auto tmp24 = tmp19();
                                auto tmp25 = at::vec::Vectorized<float>(static_cast<float>(0.0));
                                return decltype(tmp24)::blendv(tmp25, tmp24, tmp18.template cast<float,1>());
                            }
                        }
                        ()
                        ;
                        tmp26.store(out_ptr0 + static_cast<int64_t>(x1 + 10L*x0));
                    }
                    if(C10_UNLIKELY(x1 >= static_cast<int64_t>(8L) && x1 < static_cast<int64_t>(10L)))
                    {
                        auto tmp0 = (-2L) + x0;
                        auto tmp1 = c10::convert<int64_t>(tmp0);
                        auto tmp2 = static_cast<int64_t>(0);
                        auto tmp3 = tmp1 >= tmp2;
                        auto tmp4 = ks0;
                        auto tmp5 = c10::convert<int64_t>(tmp4);
                        auto tmp6 = tmp1 < tmp5;
                        auto tmp7 = (-3L) + x1;
                        auto tmp8 = c10::convert<int64_t>(tmp7);
                        auto tmp9 = at::vec::VectorizedN<int64_t,2>::arange(tmp8, 1);
                        auto tmp10 = at::vec::VectorizedN<int64_t,2>(tmp2);
                        auto tmp11 = at::vec::VecMask<int64_t,2>(tmp9 >= tmp10);
                        auto tmp12 = static_cast<int64_t>(16);
                        auto tmp13 = at::vec::VectorizedN<int64_t,2>(tmp12);
                        auto tmp14 = at::vec::VecMask<int64_t,2>(tmp9 < tmp13);
                        auto tmp15 = tmp3 & tmp6;
                        auto tmp16 = at::vec::VecMask<float,1>::from(tmp15);
                        auto tmp17 = tmp16 & tmp11;
                        auto tmp18 = tmp17 & tmp14;
                        auto tmp19 = [&]
                        {
                            auto tmp20 = ((-10L) + 2L*x0 < 0L) ? ((-10L) + ks1 + 2L*x0) : ((-10L) + 2L*x0);
                            auto tmp21 = c10::convert<int64_t>(tmp20);
                            AOTI_TORCH_CHECK(((0 <= tmp21) & (tmp21 < ks1)) | ~((tmp18).all_masked()), "index out of bounds: 0 <= tmp21 < ks1");
                            auto tmp23 = tmp18.template cast<float,1>().template loadu<float,1>(in_ptr0 + static_cast<int64_t>((-3L) + x1 + 16L*(((-10L) + 2L*x0 < 0L) ? ((-10L) + ks1 + 2L*x0) : ((-10L) + 2L*x0))));
                            return tmp23;
                        }
                        ;
                        auto tmp26 =
                        [&]
                        {
                            if (tmp18.all_zero())
                            {
                                return at::vec::Vectorized<float>(static_cast<float>(0.0));
                            }
                            else
                            {
                                auto tmp24 = tmp19();
                                auto tmp25 = at::vec::Vectorized<float>(static_cast<float>(0.0));
                                return decltype(tmp24)::blendv(tmp25, tmp24, tmp18.template cast<float,1>());
                            }
                        }
                        ()
                        ;
                        tmp26.store(out_ptr0 + static_cast<int64_t>(x1 + 10L*x0), static_cast<int64_t>(2L));
                    }
                }
            }
        }
    }
    {
        #pragma GCC ivdep
        for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(ks0); x0+=static_cast<int64_t>(1L))
        {
            for(int64_t x1=static_cast<int64_t>(0L); x1<static_cast<int64_t>(10L); x1+=static_cast<int64_t>(8L))
            {
                {
                    if(C10_LIKELY(x1 >= static_cast<int64_t>(0) && x1 < static_cast<int64_t>(8L)))
                    {
                        auto tmp0 = at::vec::Vectorized<float>::loadu(in_ptr1 + static_cast<int64_t>(x1 + 16L*x0), static_cast<int64_t>(8));
                        tmp0.store(out_ptr1 + static_cast<int64_t>(x1 + 10L*x0));
                    }
                    if(C10_UNLIKELY(x1 >= static_cast<int64_t>(8L) && x1 < static_cast<int64_t>(10L)))
                    {
                        auto tmp0 = at::vec::Vectorized<float>::loadu(in_ptr1 + static_cast<int64_t>(x1 + 16L*x0), static_cast<int64_t>(2L));
                        tmp0.store(out_ptr1 + static_cast<int64_t>(x1 + 10L*x0), static_cast<int64_t>(2L));
                    }
                }
            }
        }
    }
    inductor_cpu_integer_div_error_flag = nullptr;
    inductor_cpu_throw_if_integer_div_error(inductor_cpu_integer_div_error);
}
